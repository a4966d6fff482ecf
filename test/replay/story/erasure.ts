// A long text of a cast that is over is erased: its lines stay as they are, and the text is gone from them.
import { textDigest } from '../../../src/log/line.ts';
import { LONG } from './graph.ts';
import type { Stage } from './stage.ts';

export async function tellOfErasure(stage: Stage): Promise<void> {
  const digest = textDigest(LONG);
  const entries = await stage.entries();
  const lines = await stage.log.lines(0, entries.length);
  const from = entries.flatMap(({ seq, fact }) => {
    const isItsOwn = 'cast' in fact && fact.cast === 'work';
    return isItsOwn && lines[seq - 1]?.line.includes(digest) ? [seq] : [];
  });
  await stage.append({ kind: 'blob.erased', digest, from, reason: 'it is old' });
}
