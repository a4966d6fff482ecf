// The long form of a loadout in the short form, as `cast` would use it.
import { resolve } from 'node:path';
import { allow, deny } from '../../kernel/verdict.ts';
import { loadFor } from '../../workspace/find-config.ts';
import { UsageError } from '../../workspace/locate.ts';
import { mayBeTeam } from '../../workspace/team-files.ts';
import type { Run } from '../operation.ts';
import type { FieldsOf } from './table.ts';

export const run: Run<FieldsOf<'compile'>> = async (workspace, { loadout: word }) => {
  const { cwd } = workspace;
  const isFile = word !== undefined && mayBeTeam(word);
  const loaded = loadFor({
    workspace,
    cwd,
    file: isFile ? resolve(cwd, word) : undefined,
    loadout: isFile ? undefined : word,
  });
  const [first] = loaded.issues;
  if (loaded.config === null) {
    const reason = first?.message ?? 'the file cannot be compiled';
    return deny(first?.code ?? 'INVALID_CONFIG', reason, { file: loaded.file, issues: [...loaded.issues] });
  }
  if (!loaded.source) {
    const what =
      word === undefined ? 'no loadout of the short form is meant' : `${word} is no loadout of the short form`;
    throw new UsageError(`${what}; name a file such as .baton/loadouts/bugfix.yaml`);
  }
  const { compiled, digest } = loaded.source;
  return allow('compiled', { file: loaded.file, digest, config: compiled });
};
