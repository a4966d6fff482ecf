// Whether the name of a model stands for one exact release. What stands behind an alias, or is left to the program, may
// change from one day to the next without a byte changing here.

// A release carries its day, or the digest of its weights, at the end of its name.
const RELEASE = /(?:[-@:]\d{8}|[-@:]\d{4}-\d{2}-\d{2}|@sha256:[0-9a-f]{64})$/;
const NAME_LENGTH_MAX = 256;

export function isPinnedModel(model: string | null): boolean {
  return model !== null && model.length <= NAME_LENGTH_MAX && RELEASE.test(model);
}
