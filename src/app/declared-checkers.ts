// The checkers that the workspace's own configuration declares. What ships with the product declares none.
import { existsSync } from 'node:fs';
import { checkCheckers } from '../kernel/graph/check-config.ts';
import { checkerNames } from '../kernel/graph/checker.ts';
import { isObject, type JsonObject } from '../kernel/json.ts';
import { readJsonFile } from '../workspace/load-config.ts';
import type { Workspace } from '../workspace/locate.ts';
import { UsageError } from '../workspace/usage-error.ts';

export type Declared = { readonly names: readonly string[]; readonly checkers: JsonObject };

export function declaredCheckers({ configFile }: Workspace): Declared {
  const config = existsSync(configFile) ? readJsonFile(configFile) : {};
  if (!isObject(config)) return { names: [], checkers: {} };
  for (const { path, message } of checkCheckers(config.checkers ?? undefined)) {
    throw new UsageError(`${configFile}: ${path}: ${message}`, 'INVALID_CONFIG');
  }
  return { names: checkerNames(config), checkers: isObject(config.checkers) ? config.checkers : {} };
}
