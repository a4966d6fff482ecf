// The name of an attempt's folder: which cast, turn and attempt it belongs to.
import { basename, dirname } from 'node:path';

export type AttemptName = {
  readonly cast: string;
  readonly turn: number;
  readonly attempt: number;
  /** The state folder of the workspace whose attempt it is. */
  readonly stateDir: string;
};

const NAME = /^(.{1,200})-([1-9][0-9]{0,8})\.([1-9][0-9]{0,8})(?:\.again-[0-9]{1,9})?$/;

/** Null for a folder that is no attempt's. An attempt that waited for its provider has several folders. */
export function attemptNamed(folder: string): AttemptName | null {
  const [, cast, turn, attempt] = NAME.exec(basename(folder)) ?? [];
  if (cast === undefined || basename(dirname(folder)) !== 'attempts') return null;
  return { cast, turn: Number(turn), attempt: Number(attempt), stateDir: dirname(dirname(folder)) };
}
