// The real programs keep the promises of an agent, against the model on loopback. `npm run test:agents` installs them.
import { beforeAll } from 'vitest';
import { agentPromises } from './conformance.ts';
import { assertInstalled, PROGRAMS, showsAll } from './contenders.ts';

beforeAll(assertInstalled);

for (const contender of PROGRAMS.filter(showsAll)) agentPromises(contender);
