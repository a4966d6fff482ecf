// What was sent to a client lately, so that one whose connection drops in the middle of a long call can ask for the rest.
// It is bounded: a client that stays away too long asks again instead.
import type { EventStore } from '@modelcontextprotocol/sdk/server/streamableHttp.js';

type Message = Parameters<EventStore['storeEvent']>[1];
type Sent = { readonly number: number; readonly stream: string; readonly message: Message };

export class RecentEvents implements EventStore {
  readonly #max: number;
  readonly #sent: Sent[] = [];
  #last = 0;

  constructor(max = 1_000) {
    this.#max = max;
  }

  async storeEvent(stream: string, message: Message): Promise<string> {
    this.#last += 1;
    this.#sent.push({ number: this.#last, stream, message });
    if (this.#sent.length > this.#max) this.#sent.shift();
    return `${this.#last}_${stream}`;
  }

  async getStreamIdForEventId(event: string): Promise<string | undefined> {
    return parts(event)?.stream;
  }

  async replayEventsAfter(
    event: string,
    { send }: { send: (event: string, message: Message) => Promise<void> },
  ): Promise<string> {
    const { number, stream } = parts(event) ?? { number: this.#last, stream: '' };
    for (const sent of this.#sent.filter((one) => one.stream === stream && one.number > number)) {
      // The event that opens a stream carries nothing.
      if (Object.keys(sent.message).length > 0) await send(`${sent.number}_${stream}`, sent.message);
    }
    return stream;
  }
}

function parts(event: string): { readonly number: number; readonly stream: string } | null {
  const end = event.indexOf('_');
  const number = Number(event.slice(0, end));
  return end > 0 && Number.isSafeInteger(number) ? { number, stream: event.slice(end + 1) } : null;
}
