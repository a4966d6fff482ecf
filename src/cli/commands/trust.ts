// `baton trust`: a person says that the commands which a folder brings along may run.
import { trustFolder } from '../../git/folder-trust.ts';
import { allow } from '../../kernel/verdict.ts';
import { type Call, EXIT, out, outJson } from '../command.ts';
import { workspaceOf } from '../find-workspace.ts';

export async function run(call: Call): Promise<number> {
  const { dir } = workspaceOf(call);
  trustFolder(dir, call.env, new Date().toISOString());
  const reason = `${dir} is trusted: its set-up steps and the filters of its git configuration, as it is now, may run`;
  if (call.json) outJson(allow(reason, { folder: dir }));
  else out(reason);
  return EXIT.ok;
}
