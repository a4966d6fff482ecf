// Any other program keeps the promises of an agent too, as far as it can be heard: it tells no tokens and no model.
import { agentPromises } from './conformance.ts';
import { COMMAND } from './contenders.ts';

agentPromises(COMMAND);
