// `baton quest`: the list, and what changes it, as any operation; `run` and `runonce` show each cast while it runs.
import type { OperationName } from '../../app/operations/table.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { type Call, EXIT_CODE, out, outJson } from '../command.ts';
import { driven } from '../drive-operation.ts';
import type { Giving } from '../operation-command.ts';
import { showOperation } from '../show-operation.ts';
import { oneLine } from '../terminal-text.ts';

export async function questCommand(call: Call, given: Giving): Promise<number> {
  const [word = 'list'] = call.words;
  const name = `quest.${word}` as OperationName;
  if (word !== 'run' && word !== 'runonce') return showOperation(call, name, await given());
  const { verdict } = await driven(call, name, await given(), { onValue: (done) => [doneLine(done)] });
  if (call.json) outJson(verdict);
  else out(verdict.allow ? verdict.reason : `baton: ${verdict.code}: ${verdict.reason}`);
  return verdict.allow ? EXIT_CODE.ok : EXIT_CODE.denied;
}

function doneLine({ quest, status, code, reason, cast }: JsonObject): string {
  const what = code === null ? String(status) : `${String(status)} (${String(code)}): ${oneLine(String(reason), 160)}`;
  return `${String(quest)} ${what}; cast ${String(cast)}`;
}
