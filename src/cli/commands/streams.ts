// Commands whose standard input or output is a stream: lines to validate, the output of an approved command, a patch.

import { type UnmergedLane, unmergedText } from '../../app/cast-work.ts';
import type { OperationEvent } from '../../app/operation.ts';
import { ownWorkspace } from '../../app/operations/exec.ts';
import { Refused } from '../../app/refused.ts';
import { ownStreams } from '../../approvals/use-approval.ts';
import type { Json, JsonObject } from '../../kernel/json.ts';
import { counted } from '../../kernel/text.ts';
import type { Denied } from '../../kernel/verdict.ts';
import { again, type Call, EXIT_CODE, flag, note, out, outJson, UsageError, workspaceOf } from '../command.ts';
import type { Giving } from '../operation-command.ts';
import { type Paint, paintFor } from '../paint.ts';
import { type InputLine, linesIn } from '../read-input.ts';
import { rowsIn } from '../show/form.ts';
import { allowed, performing, showOperation } from '../show-operation.ts';
import { oneLine, safe } from '../terminal-text.ts';

const LINE_BYTES_MAX = 16 * 1024 * 1024;

export async function validateCommand(call: Call, given: Giving): Promise<number> {
  if (!flag(call.values, 'jsonl')) return showOperation(call, 'validate', await given());
  if (call.words.length > 1) throw new UsageError('--jsonl reads standard input; leave the file out');
  return lines(call, given);
}

/** Every line is answered, in order, as soon as it is there. */
function lines(call: Call, given: Giving): Promise<number> {
  return performing(call, 'validate', async (perform) => {
    const all = await given({ isStream: true });
    // Wrong options are reported before a line is read.
    await perform({ ...all, lines: [] });
    for await (const line of linesIn(process.stdin, LINE_BYTES_MAX)) {
      if ('text' in line && line.text.trim() === '') continue;
      await perform({ ...all, lines: [toldOf(line)] });
    }
    return EXIT_CODE.ok;
  });
}

function toldOf(line: InputLine): Json {
  if ('text' in line) return line.text;
  if ('bytes' in line) return { base64: line.bytes.toString('base64') };
  return { fault: `it is larger than ${LINE_BYTES_MAX} bytes` };
}

export async function execCommand(call: Call, giving: Giving): Promise<number> {
  const located = ownWorkspace(call.env) ?? workspaceOf(call);
  const given = await giving();
  const listening = {
    signal: new AbortController().signal,
    onEvent: (event: OperationEvent) => void (event.kind === 'note' && note(event.text)),
    streams: ownStreams(),
  };
  try {
    const verdict = await performing(call, 'exec', (each) => each(given), listening, located);
    return verdict.allow ? Number(verdict.details.code) : refused(call, verdict);
  } catch (error) {
    if (error instanceof Refused) return refused(call, error.verdict);
    throw error;
  }
}

/** Standard output is the command's; without one it is the verdict's, where it is asked for. */
function refused(call: Call, verdict: Denied): number {
  note(`baton: ${verdict.code}: ${verdict.reason}`);
  if (call.json) outJson(verdict);
  return EXIT_CODE.denied;
}

export async function diffCommand(call: Call, given: Giving): Promise<number> {
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
  unknown: 'was changed; no copy of its earlier content was kept',
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
    ...lanes.map((lane) => `${unmergedText(lane)}: ${again(call)} diff ${cast} --lane ${lane.lane}`),
  ];
}
