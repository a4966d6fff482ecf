// From what is asked to the rules of a cast: the configuration is found and checked, and the request is looked at.
import type { Issue } from '../../kernel/graph/config.ts';
import { type Denied, deny } from '../../kernel/verdict.ts';
import { UTILITY_NAMES } from '../../utilities/names.ts';
import { locateCast } from '../../workspace/plan.ts';
import { UsageError } from '../../workspace/usage-error.ts';
import type { Context } from '../operation.ts';
import type { Workspace } from '../workspace.ts';

const REQUEST_BYTES_MAX = 1_048_576;

export type CastOptions = {
  readonly request: string;
  readonly loadout?: string | undefined;
  readonly file?: string | undefined;
  readonly agents?: string | undefined;
  readonly runner?: string | undefined;
  readonly model?: string | undefined;
};

export async function planned(workspace: Workspace, options: CastOptions, { onEvent }: Pick<Context, 'onEvent'>) {
  const { request, file, loadout, agents, runner, model } = options;
  const chosen = { runner, model };
  const bytes = Buffer.byteLength(request);
  if (bytes > REQUEST_BYTES_MAX)
    throw new UsageError(
      `the request has ${bytes} bytes; at most ${REQUEST_BYTES_MAX} are allowed. Put the rest into files of the project`,
    );
  const { cwd } = workspace;
  const plan = await locateCast({ workspace, file, loadout, agents, cwd, chosen, utilities: UTILITY_NAMES });
  for (const { code, path, message } of plan.ok ? plan.plan.warnings : [])
    onEvent({ kind: 'note', text: `warning ${code} ${path}: ${message}` });
  return plan;
}

/** What is wrong with the configuration; the first mistake gives the code. */
export function refusedPlan(issues: readonly Issue[]): Denied {
  const first = issues.find(({ level }) => level === 'error');
  const reason = first ? `${first.path}: ${first.message}` : 'the configuration does not check';
  return deny(first?.code ?? 'INVALID_CONFIG', reason, { issues: issues.map((issue) => ({ ...issue })) });
}
