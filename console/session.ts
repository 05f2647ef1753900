import { effect, signal } from '@preact/signals';
import { ApiClient, ApiError } from '../src/client/client.ts';
import { access, accessOf } from './access.ts';
import { broughtCode } from './place.ts';

/**
 * The key's name in the session storage of the tab. The API key is removed with the tab, and is in no address and no
 * cookie.
 */
const PLACE = 'isolayer-key';

/** The API client of the signed-in user; null while nobody is signed in. */
export const client = signal<ApiClient | null>(restored());

/** The reason why the last session ended. */
export const signedOutWhy = signal('');

function restored(): ApiClient | null {
  const key = sessionStorage.getItem(PLACE);
  return key === null ? null : new ApiClient({ url: '', key });
}

/**
 * Signs in with an API key.
 * @throws ApiError when the key is not accepted
 */
export async function signIn(key: string): Promise<void> {
  const tried = new ApiClient({ url: '', key });
  access.value = await accessOf(tried);
  sessionStorage.setItem(PLACE, key);
  signedOutWhy.value = '';
  client.value = tried;
}

/** Asks again for the key's permissions, which can change during a session. */
export async function learnAccess(): Promise<void> {
  const current = client.peek();
  if (current === null) return;
  try {
    const known = await accessOf(current);
    if (client.peek() === current) access.value = known;
  } catch (error) {
    reasonOf(error);
  }
}

void learnAccess();

effect(() => {
  if (broughtCode.value !== '') void signInBy(broughtCode.value);
});

/** Exchanges a one-time code for its API key, and signs in with the key. */
async function signInBy(code: string): Promise<void> {
  signOut('Signing in…');
  try {
    const answer = await fetch('/console/sign-in', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ code }),
    });
    if (answer.ok) await signIn(((await answer.json()) as { data: { key: string } }).data.key);
    else signedOutWhy.value = 'The link was used before, or is older than ten minutes. Your API key always works.';
  } catch (error) {
    signedOutWhy.value = reasonOf(error);
  }
  broughtCode.value = '';
}

export function signOut(why = ''): void {
  sessionStorage.removeItem(PLACE);
  signedOutWhy.value = why;
  client.value = null;
}

/** The text of an error for people. Ends the session if the key is no longer accepted. */
export function reasonOf(error: unknown): string {
  if (error instanceof ApiError) {
    if (error.status === 401) signOut('The key is no longer accepted.');
    // If a key may not see something, the service answers that it does not exist.
    if (error.code === 'ROUTE_NOT_FOUND') return 'Your key may not see this.';
    return error.message;
  }
  return 'The server cannot be reached.';
}
