// Text that came from agents is quoted in a brief, so that a prompt can tell it from its own instructions.

/** A line that would end the quotation is written so that it does not. */
export function asData(text: string): string {
  return `<data>\n${text.replaceAll('</data>', '<\\/data>')}\n</data>`;
}
