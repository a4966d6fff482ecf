// A branch name of its own for every cast, the same each time it is asked for: two words to recognise it by and ten
// hexadecimal digits to keep it apart from others.
import { createHash } from 'node:crypto';

export function branchNameFor(family: 'mime' | 'blackbelt', castId: string): string {
  const digest = createHash('sha256').update(castId).digest();
  const noun = NOUNS[digest.readUInt8(30) % NOUNS.length];
  const verb = VERBS[digest.readUInt8(31) % VERBS.length];
  return `${family}/${noun}-${verb}-${digest.toString('hex').slice(0, 10)}`;
}

const NOUNS = [
  'anchor',
  'birch',
  'comet',
  'delta',
  'ember',
  'falcon',
  'glacier',
  'harbor',
  'island',
  'juniper',
  'kettle',
  'lantern',
  'meadow',
  'needle',
  'orchard',
  'pebble',
];
const VERBS = [
  'bends',
  'climbs',
  'drifts',
  'echoes',
  'floats',
  'glides',
  'hums',
  'jumps',
  'kindles',
  'lifts',
  'mends',
  'opens',
  'races',
  'shines',
  'turns',
  'wakes',
];
