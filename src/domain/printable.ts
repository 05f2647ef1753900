/**
 * A text from outside in one line of at most `most` characters, without characters that a terminal or a log would act
 * on.
 */
export function printable(text: string, most: number): string {
  const line = text
    .slice(0, most * 2)
    .replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim();
  return line.length > most ? `${line.slice(0, most)}...(truncated)` : line;
}
