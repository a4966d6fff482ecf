// Notices a model call that hangs. A model answers in pieces, so a long silence means that nothing more will come.
// A silence is reported from time to time. At its own limit, shorter than that of the turn, it ends the call.
import type { LiveEvent } from '../engine/ports.ts';
import { waitInWords } from './fault.ts';

const REPORT_EVERY_MS = 30_000;
const LOOKS_PER_LIMIT = 10;
const LOOK_MS_MAX = 5_000;

type SilenceListener = {
  /** Whether the model is awaited, and not a tool. */
  isAsked(): boolean;
  /** Called every 30 seconds of silence. */
  report(silentMs: number): void;
  /** Called once, at the limit. */
  giveUp(): void;
};

export function modelSilence(limitMs: number, { isAsked, report, giveUp }: SilenceListener) {
  let heardAt = performance.now();
  let reportedAt = heardAt;
  const stop = () => clearInterval(timer);
  const look = () => {
    const now = performance.now();
    if (!isAsked()) heardAt = now;
    if (now - heardAt >= limitMs) {
      stop();
      giveUp();
    } else if (now - Math.max(heardAt, reportedAt) >= REPORT_EVERY_MS) {
      reportedAt = now;
      report(now - heardAt);
    }
  };
  const timer = setInterval(look, Math.max(10, Math.min(LOOK_MS_MAX, limitMs / LOOKS_PER_LIMIT)));
  timer.unref();
  return {
    /** Output arrived. */
    heard() {
      heardAt = performance.now();
    },
    stop,
  };
}

export function silenceEvent(program: string, silentMs: number): LiveEvent {
  return {
    kind: 'waiting',
    forMs: 0,
    reason: `${program} has got nothing from its model for ${waitInWords(silentMs)}`,
  };
}
