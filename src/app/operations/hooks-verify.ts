// Starts the real Claude Code, lets it try one forbidden write, and reports whether the installed hook refused it.
import { claudeHost } from '../../hooks/install/hosts.ts';
import { verifyClaude } from '../../hooks/install/verify-claude.ts';
import { allow } from '../../kernel/verdict.ts';
import type { Run } from '../operation.ts';
import type { FieldsOf } from './table.ts';

export const run: Run<FieldsOf<'hooks.verify'>> = async ({ dir, env }, _input, { onEvent }) => {
  onEvent({ kind: 'note', text: 'Starting Claude Code with one forbidden write. This uses a few tokens …' });
  const { isRefused, reason } = await verifyClaude(dir, env);
  return allow(reason, { agent: claudeHost.name, verified: isRefused, reason });
};
