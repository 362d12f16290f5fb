import sdk = require("@troupe/sdk");
export const t: sdk.Troupe = new sdk.Troupe({ baseUrl: "http://127.0.0.1:1" });
