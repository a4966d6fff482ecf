// The policy in force: the `approvals` section of the workspace's configuration.
import { readFileSync } from 'node:fs';
import { type ApprovalPolicy, DEFAULT_POLICY, policyOf } from '../kernel/approval/policy.ts';
import { checkApprovals } from '../kernel/graph/check-config.ts';
import { isObject } from '../kernel/json.ts';
import { type Denied, deny } from '../kernel/verdict.ts';

/** A section that cannot be understood is refused: a tier that is misspelt must not be no tier. */
export function readPolicy(configFile: string): ApprovalPolicy | Denied {
  let text: string;
  try {
    text = readFileSync(configFile, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return DEFAULT_POLICY;
    return refuse(configFile, `it cannot be read (${(error as Error).message})`);
  }
  try {
    const config: unknown = JSON.parse(text.replace(/^\uFEFF/, ''));
    if (!isObject(config)) return refuse(configFile, 'it holds no object');
    const section = config.approvals ?? undefined;
    const [issue] = [...checkApprovals(section)].filter(({ level }) => level === 'error');
    return issue ? refuse(configFile, `${issue.path}: ${issue.message}`) : policyOf(section);
  } catch (error) {
    return refuse(configFile, `it is not JSON (${(error as Error).message})`);
  }
}

function refuse(file: string, why: string): Denied {
  return deny('INVALID_CONFIG', `${file}: ${why}; mend it, nothing is approved until then`);
}
