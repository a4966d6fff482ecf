// The form at the right: all that the format has for what is selected. A socket with its materia, an edge, a loop, or, with nothing
// selected, the loadout and what decides how its casts run.
import type { ReactNode } from 'react';
import { loopAt } from '../../../src/editor/document.ts';
import { LoadoutForm, ManyForm } from './form-loadout.tsx';
import { LoopForm } from './form-loop.tsx';
import type { FormProps } from './form-parts.tsx';
import { SocketForm } from './form-socket.tsx';
import { WayForm } from './form-ways.tsx';

export function Form(props: FormProps): ReactNode {
  const { state, drawn } = props;
  const { sockets, way, loop } = state.selection;
  const [only] = sockets;
  const chosenWay = way === null ? undefined : drawn.ways.find(({ id }) => id === way);
  if (chosenWay) return <WayForm key={chosenWay.id} {...props} way={chosenWay} />;
  if (loop !== null && loopAt(state.document, loop)) return <LoopForm key={loop} {...props} loop={loop} />;
  if (sockets.length > 1) return <ManyForm {...props} />;
  if (only !== undefined) return <SocketForm key={only} {...props} id={only} />;
  return <LoadoutForm {...props} />;
}
