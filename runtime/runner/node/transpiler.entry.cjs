// The entry of the bundle: the one function of sucrase that we use.
module.exports = { transform: require("sucrase").transform };
