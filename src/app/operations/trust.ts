// A person says that the commands which a folder brings along may run.
import { trustFolder } from '../../git/folder-trust.ts';
import { allow } from '../../kernel/verdict.ts';
import type { Operation } from './table.ts';

export const trustThisFolder: Operation<'trust'> = async ({ dir, env }) => {
  trustFolder(dir, env, new Date().toISOString());
  const reason = `${dir} is trusted: its set-up steps and the filters of its git configuration, as it is now, may run`;
  return allow(reason, { folder: dir });
};
