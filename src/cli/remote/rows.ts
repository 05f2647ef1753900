/** A terminal obeys such characters; what is shown may be anybody's. */
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/** A text as a terminal shows it and does not obey it. */
export function plain(text: string): string {
  return text.replaceAll(CONTROLS, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Lines of a table, its columns as wide as what is in them. */
export function rowsOf(heads: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const all = [heads, ...rows.map((row) => row.map(plain))];
  const widths = heads.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  return all.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

/** A value for programs: one line of JSON, integers with all their digits. */
export function jsonLine(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) => (typeof inner === 'bigint' ? inner.toString() : inner));
}

/** Items as a table for people, or each as a line of JSON for programs. */
export function itemLines<Item>(
  items: readonly Item[],
  { heads, row, isJson }: { heads: readonly string[]; row: (item: Item) => string[]; isJson: boolean },
): string[] {
  return isJson ? items.map(jsonLine) : rowsOf(heads, items.map(row));
}
