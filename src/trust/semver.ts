// Semantic version 2.0.0 as text: no leading `v`, no leading zeros, pre-release and build allowed.

const CORE = /^(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)(?:-([0-9A-Za-z.-]+))?(?:\+([0-9A-Za-z.-]+))?$/;
const LENGTH_MAX = 256;

export function isSemver(text: string): boolean {
  if (text.length > LENGTH_MAX) return false;
  const match = CORE.exec(text);
  if (!match) return false;
  const [, prerelease, build] = match;
  return (prerelease === undefined || named(prerelease, true)) && (build === undefined || named(build, false));
}

// Identifiers between dots are never empty; a numeric one in the pre-release has no leading zero.
function named(part: string, prerelease: boolean): boolean {
  return part.split('.').every((id) => id !== '' && !(prerelease && id.length > 1 && /^0\d*$/.test(id)));
}
