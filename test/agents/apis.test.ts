// The model interfaces keep the promises of an agent.
import { agentPromises } from './conformance.ts';
import { APIS } from './contenders.ts';

for (const contender of APIS) agentPromises(contender);
