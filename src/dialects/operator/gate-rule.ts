// The rules a gate answers with. Each refusal says under which contract code it is stored.
import type { OperatorRule } from '../../kernel/codes/operator-rules.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { CODE_OF_RULE } from '../../kernel/ledger/wire.ts';
import type { Findings } from './findings.ts';

export function breaks(
  found: Findings,
  rule: OperatorRule,
  path: string,
  message: string,
  details: JsonObject = {},
): void {
  found.add(rule, path, message, { contract_code: CODE_OF_RULE[rule], ...details });
}
