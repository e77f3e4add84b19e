// What the compiler does not look for in the scripts of pages and of their checks.
export default [
  {
    rules: {
      eqeqeq: "error",
      "no-console": "off",
      "no-eval": "error",
      "no-implicit-globals": "off",
      "no-implied-eval": "error",
      "no-param-reassign": "error",
      "no-script-url": "error",
      "no-shadow": ["error", { builtinGlobals: false }],
      "no-unused-vars": "error",
      "no-use-before-define": "error",
      "no-useless-concat": "error",
      "no-var": "error",
      "object-shorthand": "error",
      "prefer-const": "error",
      "prefer-template": "error",
    },
  },
];
