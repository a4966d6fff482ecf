// pi: an extension of the project that asks `baton hook` before every tool call that writes. The file is all ours.
import { readFileSync } from 'node:fs';
import { deny } from '../../kernel/verdict.ts';
import { beforeArgs } from './hook-groups.ts';
import type { Host, How } from './host.ts';

const FIRST = '// Written by `baton install pi`; `baton install pi --undo` removes it.';

export const piHost: Host = {
  name: 'pi',
  files: ['.pi/extensions/baton.ts'],
  notes: [
    'pi asks whether the project is trusted before it loads its extensions; of the hooks it has those before a tool.',
  ],
  add(file, text, how) {
    if (text !== null)
      return deny('NOT_ALLOWED_NOW', `${file} is somebody else's; rename or remove it first`, { file });
    return extension(how);
  },
  remove: (_, text) => (text.startsWith(FIRST) ? null : text),
};

/** The text of the guard itself goes in: the file has to work wherever it is taken, and after we are gone it refuses. */
function extension(how: How): string {
  const file = import.meta.url.endsWith('.ts') ? '../../agents/pi-guard.ts' : '../../agents/pi-guard.js';
  const guard = readFileSync(new URL(file, import.meta.url), 'utf8').trimEnd();
  const asked = { program: how.program, args: beforeArgs(how), isReportOnly: how.reportOnly };
  return `${FIRST}\n${guard}\n\nexport default guardBy(${JSON.stringify(asked)});\n`;
}
