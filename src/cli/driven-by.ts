// The refusal for whoever would act on a cast that another process drives.
import type { Driver } from '../engine/driver.ts';
import { type Denied, deny } from '../kernel/verdict.ts';
import { commandName } from './command-name.ts';

export function drivenBy(cast: string, { pid, host }: Driver): Denied {
  const reason = `cast ${cast} is driven by process ${pid} on ${host}; \`${commandName()} watch ${cast}\` follows it`;
  return deny('NOT_ALLOWED_NOW', reason, { pid, host });
}
