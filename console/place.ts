import { signal } from '@preact/signals';

/** A one-time code that the address came with; empty without one. The address and the tab's history do not keep it. */
export const broughtCode = signal(takeCode());

/** Where one is: the parts of the address behind its #. */
export const place = signal(read());

addEventListener('hashchange', () => {
  broughtCode.value = takeCode() || broughtCode.value;
  place.value = read();
});

function takeCode(): string {
  const [room, code = ''] = read();
  if (room !== 'sign-in') return '';
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

/** The address of a place. */
export function to(...parts: string[]): string {
  return `#/${parts.map(encodeURIComponent).join('/')}`;
}
