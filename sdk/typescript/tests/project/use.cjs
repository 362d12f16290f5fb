const { Troupe, TroupeError } = require("@troupe/sdk");
if (!(new Troupe().sandboxes && TroupeError)) throw new Error("not the client");
