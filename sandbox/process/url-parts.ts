import type { UrlParts, UrlQuestion } from '../guest/host-function.ts';

const PARTS = [
  'href',
  'origin',
  'protocol',
  'username',
  'password',
  'host',
  'hostname',
  'port',
  'pathname',
  'search',
  'hash',
] as const satisfies readonly (keyof UrlParts)[];

/**
 * Answers the guest's `URL` with Node's own parser of the WHATWG URL standard.
 * @returns JSON text of {@link UrlParts}, or `""` when the question or the URL is invalid
 */
export function answerUrlQuestion(text: string): string {
  try {
    const url = resolve(JSON.parse(text) as UrlQuestion);
    return JSON.stringify(Object.fromEntries(PARTS.map((part) => [part, url[part]])));
  } catch {
    return '';
  }
}

function resolve(question: UrlQuestion): URL {
  if ('url' in question) return new URL(question.url, question.base);
  const url = new URL(question.href);
  const part = PARTS.find((name) => name === question.set);
  if (part !== undefined && part !== 'origin') url[part] = question.value;
  return url;
}
