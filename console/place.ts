import { signal } from '@preact/signals';

/**
 * The one-time code in the page's address; empty without one. The code is removed from the address and from the tab's
 * history.
 */
export const broughtCode = signal(takeCode());

/** The current place in the console: the parts of the address after the #. */
export const place = signal(read());

addEventListener('hashchange', () => {
  broughtCode.value = takeCode() || broughtCode.value;
  place.value = read();
});

function takeCode(): string {
  const [page, code = ''] = read();
  if (page !== 'sign-in') return '';
  history.replaceState(null, '', location.pathname);
  return code;
}

function read(): string[] {
  return location.hash.replace(/^#\/?/, '').split('/').filter(Boolean).map(decoded);
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Returns the address of a place. */
export function to(...parts: string[]): string {
  return `#/${parts.map(encodeURIComponent).join('/')}`;
}
