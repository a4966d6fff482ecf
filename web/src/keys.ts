// The keyboard. Each view says which keys it has and what they do; the list of keys and the handling come from that.
import { useEffect, useRef, useSyncExternalStore } from 'react';

export type Key = {
  /** `mod+k`, `g h` (one after the other), `shift+d`, `?`, `ArrowDown`. */
  readonly keys: string;
  readonly says: string;
  readonly run: (event: KeyboardEvent) => void;
  /** It also works while somebody types in a field. */
  readonly inFields?: true;
};

type Layer = { readonly name: string; keys: readonly Key[]; readonly isModal: boolean };

const layers: Layer[] = [];
const listeners = new Set<() => void>();
const OFF = 'baton.single-keys-off';
const SEQUENCE_MS = 1_200;
let shown: readonly Layer[] = [];

function changed(): void {
  shown = [...layers];
  for (const each of listeners) each();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Keys of a view while it is shown. A modal layer hides those below it. */
export function useKeys(name: string, keys: readonly Key[], { isModal = false, isOff = false } = {}): void {
  const layer = useRef<Layer>({ name, keys, isModal });
  layer.current.keys = keys;
  useEffect(() => {
    if (isOff) return;
    const mine = layer.current;
    layers.push(mine);
    changed();
    return () => {
      layers.splice(layers.indexOf(mine), 1);
      changed();
    };
  }, [isOff]);
}

/** The layers that have keys now, the innermost first. */
export function useKeyLayers(): readonly Layer[] {
  const all = useSyncExternalStore(subscribe, () => shown);
  return all.toReversed();
}

export function useSingleKeys(): readonly [isOn: boolean, set: (isOn: boolean) => void] {
  const isOn = useSyncExternalStore(subscribe, () => localStorage.getItem(OFF) === null);
  const set = (on: boolean): void => {
    if (on) localStorage.removeItem(OFF);
    else localStorage.setItem(OFF, '1');
    changed();
  };
  return [isOn, set];
}

const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent);

/** As it is printed on a key: `⌘K`, `Ctrl K`, `G I`. */
export function keyLabel(keys: string): readonly string[] {
  return keys.split(' ').map((each) =>
    each
      .split('+')
      .map((part) => NAMES[part] ?? (part.length === 1 ? part.toUpperCase() : part))
      .join(!isMac && /mod|alt/.test(each) ? ' ' : ''),
  );
}
const NAMES: Readonly<Record<string, string>> = {
  mod: isMac ? '⌘' : 'Ctrl',
  shift: '⇧',
  alt: isMac ? '⌥' : 'Alt',
  Enter: '↵',
  Escape: 'Esc',
  ArrowUp: '↑',
  ArrowDown: '↓',
  ArrowLeft: '←',
  ArrowRight: '→',
};

let before = { key: '', at: 0 };

function nameOf(event: KeyboardEvent): string {
  // With Alt, a key of a Mac writes another sign; what is meant is the key.
  const letter = event.altKey ? /^Key([A-Z])$/.exec(event.code)?.[1] : undefined;
  const key = (letter ?? event.key).length === 1 ? (letter ?? event.key).toLowerCase() : event.key;
  const isLetter = /^[a-z]$/.test(key);
  return [
    event.metaKey || event.ctrlKey ? 'mod+' : '',
    event.altKey ? 'alt+' : '',
    // The sign on the key says it already where shift makes another sign.
    event.shiftKey && (isLetter || key.length > 1) ? 'shift+' : '',
    key,
  ].join('');
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement)
    return true;
  return target instanceof HTMLInputElement && !['checkbox', 'radio', 'button', 'range'].includes(target.type);
}

/** Handles all keys of the page. Called once. */
export function listenToKeys(): void {
  addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.isComposing) return;
    const name = nameOf(event);
    if (['Shift', 'Control', 'Alt', 'Meta'].includes(event.key)) return;
    const pair = Date.now() - before.at < SEQUENCE_MS ? `${before.key} ${name}` : '';
    before = { key: name, at: Date.now() };
    const isPlain = !name.startsWith('mod+') && event.key.length === 1;
    if (isPlain && localStorage.getItem(OFF) !== null) return;
    const typing = isTyping(event.target);
    // A button does its own thing on Enter, and a list of radio buttons has its own arrows.
    const isOwn =
      name === 'Enter' && event.target instanceof Element && event.target.closest('button, a, summary') !== null;
    for (const layer of layers.toReversed()) {
      const found = layer.keys.find(({ keys }) => keys === pair) ?? layer.keys.find(({ keys }) => keys === name);
      if (found && !isOwn && (!typing || found.inFields === true)) {
        event.preventDefault();
        before = { key: '', at: 0 };
        found.run(event);
        return;
      }
      if (layer.isModal) return;
    }
  });
}
