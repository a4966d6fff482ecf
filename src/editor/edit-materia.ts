// Edits of materia: which one is in a socket, new ones, their names, and their prompts.
import { isObject, isText, type JsonObject, objectAt, stringAt } from '../kernel/json.ts';
import { type Denied, deny } from '../kernel/verdict.ts';
import { materiaOf, renamed, without } from './document.ts';
import { first, type Sheet, shortened } from './sheet.ts';

const PROMPT_CHARS_MAX = 1_048_576;

function noMateria(sheet: Sheet, id: string): Denied | null {
  if (Object.hasOwn(materiaOf(sheet.document), id)) return null;
  return deny('UNKNOWN_MATERIA', `There is no materia ${shortened(id)}.`, { materia: shortened(id) });
}

function put(sheet: Sheet, id: string, materia: string | null): void {
  const { materia: _before, empty: _empty, ...rest } = sheet.socket(id);
  // The materia comes after the label, as people write it.
  const { label, ...others } = rest;
  const named = label === undefined ? {} : { label };
  sheet.putSocket(id, materia === null ? { ...rest, empty: true } : { ...named, materia, ...others });
}

export function setMateria(sheet: Sheet, id: string, materia: string): Denied | null {
  const refused = first(sheet.noSocket(id), noMateria(sheet, materia));
  if (refused) return refused;
  if (stringAt(sheet.socket(id), 'materia') === materia) return null;
  put(sheet, id, materia);
  return null;
}

export function moveMateria(sheet: Sheet, from: string, to: string): Denied | null {
  const refused = first(sheet.noSocket(from), sheet.noSocket(to));
  if (refused || from === to) return refused;
  const [source, target] = [stringAt(sheet.socket(from), 'materia'), stringAt(sheet.socket(to), 'materia')];
  if (source === null) return deny('UNKNOWN_MATERIA', `${sheet.name(from)} is empty, so there is nothing to move.`);
  put(sheet, to, source);
  put(sheet, from, target);
  sheet.selected = [to];
  return null;
}

function badName(sheet: Sheet, id: string): Denied | null {
  if (!isText(id) || id === '__proto__' || id.length > 200)
    return deny('INVALID_MATERIA', 'A materia needs a name of at most 200 characters.');
  if (!Object.hasOwn(materiaOf(sheet.document), id)) return null;
  return deny('INVALID_MATERIA', `There is a materia ${shortened(id)} already. Choose another name.`);
}

export function addMateria(sheet: Sheet, id: string, definition: JsonObject): Denied | null {
  const refused = badName(sheet, id);
  if (refused) return refused;
  if (!isObject(definition)) return deny('INVALID_MATERIA', 'A materia is an object.');
  sheet.write(['materia', id], definition);
  return null;
}

export function renameMateria(sheet: Sheet, id: string, to: string): Denied | null {
  const refused = first(noMateria(sheet, id), id === to ? null : badName(sheet, to));
  if (refused || id === to) return refused;
  sheet.write(['materia'], renamed(materiaOf(sheet.document), id, to));
  for (const socket of sheet.socketIds) {
    if (stringAt(sheet.socket(socket), 'materia') === id)
      sheet.putSocket(socket, { ...sheet.socket(socket), materia: to });
  }
  return null;
}

export function removeMateria(sheet: Sheet, id: string): Denied | null {
  const refused = noMateria(sheet, id);
  if (refused) return refused;
  const users = sheet.socketIds.filter((socket) => stringAt(sheet.socket(socket), 'materia') === id);
  if (users.length > 0) {
    const names = users.map((socket) => sheet.name(socket)).join(', ');
    return deny('INVALID_MATERIA', `${id} is used by ${names}. Put something else there first.`, { sockets: users });
  }
  const left = without(materiaOf(sheet.document), id);
  sheet.write(['materia'], left);
  return null;
}

/** The text goes where the prompt of the materia is: into its file, or into the configuration. */
export function setPrompt(sheet: Sheet, id: string, text: string): Denied | null {
  const refused = noMateria(sheet, id);
  if (refused) return refused;
  if (text.length > PROMPT_CHARS_MAX)
    return deny('INVALID_MATERIA', `A prompt has at most ${PROMPT_CHARS_MAX} characters.`);
  const written = objectAt(materiaOf(sheet.document), id);
  const file = stringAt(written, 'promptFile');
  if (isText(file) && written.prompt === undefined) {
    sheet.putFile(file, text);
    const others = Object.entries(materiaOf(sheet.document)).flatMap(([other, each]) =>
      other !== id && isObject(each) && each.promptFile === file && each.prompt === undefined ? [other] : [],
    );
    if (others.length > 0) sheet.note(`${others.join(', ')} reads the same file, so its prompt changed, too.`);
    return null;
  }
  sheet.write(['materia', id, 'prompt'], text);
  return null;
}
