// `baton diff`: the patch for people and for `git apply`; with --stat or --json the files.
import { saidOf, type UnmergedLane } from '../../app/cast-work.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { counted } from '../../kernel/text.ts';
import { again, type Call, EXIT_CODE, flag, note, out, outJson } from '../command.ts';
import type { Giving } from '../operation-command.ts';
import { type Paint, paintFor } from '../paint.ts';
import { oneLine, safe } from '../safe-text.ts';
import { rowsIn } from '../show/form.ts';
import { allowed } from '../show-operation.ts';

export async function run(call: Call, given: Giving): Promise<number> {
  const isStat = flag(call.values, 'stat');
  const patch = !call.json && !isStat;
  const details = await allowed(call, 'cast.diff', { ...(await given()), patch });
  if (call.json) outJson(details);
  else {
    if (isStat) for (const line of statOf(details)) out(line);
    else print(details);
    for (const line of notesOf(details, call, isStat)) note(line);
  }
  return EXIT_CODE.ok;
}

/** As it is where a program reads it; without what would act on a terminal where a person does. */
function print({ patch = '', patchBase64 }: JsonObject): void {
  const text = String(patch);
  if (process.stdout.isTTY) process.stdout.write(coloured(safe(text), paintFor(process.stdout)));
  else process.stdout.write(patchBase64 === undefined ? text : Buffer.from(String(patchBase64), 'base64'));
}

function coloured(patch: string, { good, bad, bold }: Paint): string {
  return patch.replace(/^(?:diff |index |--- |\+\+\+ ).*|^\+.*|^-.*/gm, (line) => {
    if (/^(?:diff |index |--- |\+\+\+ )/.test(line)) return bold(line);
    return line.startsWith('+') ? good(line) : bad(line);
  });
}

function statOf({ branch, files, beside }: JsonObject): readonly string[] {
  const line = ({ status, path }: JsonObject) => `${String(status).padEnd(8)}  ${oneLine(String(path))}`;
  const rows = rowsIn(files);
  if (branch === null) return [...rows.map(line), ...rowsIn(beside).map((row) => `${line(row)}  (${row.remark})`)];
  const lines = rows.map(({ path, status, insertions, deletions }) => {
    const how = insertions === null ? 'binary' : `+${insertions} -${deletions ?? 0}`;
    return `${String(status).padEnd(8)}  ${how.padStart(12)}  ${oneLine(String(path))}`;
  });
  return [...lines, `${counted(rows.length, 'file')} changed`];
}

const UNSHOWN: Readonly<Record<string, string>> = {
  kept: 'was changed; a copy of what it was is kept for `undo`',
  unknown: 'was changed; nobody kept what it was before',
};

/** What a patch does not show. */
function notesOf(details: JsonObject, call: Call, isStat: boolean): readonly string[] {
  const { branch, cast, files, beside, uncommitted } = details;
  if (branch === null) {
    if (isStat) return [];
    const unshown = rowsIn(files).filter(({ before }) => before !== 'commit');
    return [
      ...unshown.map(({ path, before }) => {
        const what = before === 'absent' ? 'was added' : UNSHOWN[String(before)];
        return `${oneLine(String(path))} ${what}`;
      }),
      ...rowsIn(beside).map(({ path, remark }) => `${oneLine(String(path))} ${remark}`),
    ];
  }
  const open = Number(uncommitted);
  const lanes = rowsIn(details.lanes) as unknown as readonly UnmergedLane[];
  return [
    ...(open > 0
      ? [`${counted(open, 'file')} of it ${open === 1 ? 'is' : 'are'} not committed: no turn with it was accepted yet.`]
      : []),
    ...lanes.map((lane) => `${saidOf(lane)}: ${again(call)} diff ${cast} --lane ${lane.lane}`),
  ];
}
