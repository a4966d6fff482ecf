// What changes in a file, line by line, for a person who decides whether it shall.

const CONTEXT = 3;

/** The changed lines with a few around them. Texts that differ in one place only are shown as such. */
export function diffOf(file: string, before: string | null, after: string | null): readonly string[] {
  const [old, now] = [linesOf(before), linesOf(after)];
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start += 1;
  let end = 0;
  while (end < old.length - start && end < now.length - start && old.at(-1 - end) === now.at(-1 - end)) end += 1;
  const around = (lines: readonly string[]) => lines.map((line) => `  ${line}`);
  return [
    before === null ? `${file} (new)` : after === null ? `${file} (removed)` : file,
    ...around(old.slice(Math.max(0, start - CONTEXT), start)),
    ...old.slice(start, old.length - end).map((line) => `- ${line}`),
    ...now.slice(start, now.length - end).map((line) => `+ ${line}`),
    ...around(old.slice(old.length - end, Math.min(old.length, old.length - end + CONTEXT))),
  ];
}

function linesOf(text: string | null): readonly string[] {
  if (text === null || text === '') return [];
  return (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n');
}
