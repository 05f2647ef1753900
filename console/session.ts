import { effect, signal } from '@preact/signals';
import { ApiClient, ApiError } from '../src/client/client.ts';
import { access, accessOf } from './access.ts';
import { broughtCode } from './place.ts';

/** For the tab, and gone with it: not in an address, not in a cookie. */
const PLACE = 'isolayer-key';

/** The client of who is signed in; null before that. */
export const client = signal<ApiClient | null>(restored());

/** Why nobody is signed in any more. */
export const signedOutWhy = signal('');

function restored(): ApiClient | null {
  const key = sessionStorage.getItem(PLACE);
  return key === null ? null : new ApiClient({ url: '', key });
}

/** @throws ApiError when the key is not accepted */
export async function signIn(key: string): Promise<void> {
  const tried = new ApiClient({ url: '', key });
  access.value = await accessOf(tried);
  sessionStorage.setItem(PLACE, key);
  signedOutWhy.value = '';
  client.value = tried;
}

/** Asks anew what the key may do: that can change while somebody looks. */
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

/** Exchanges a one-time code for the key that it stands for. */
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

/** What a failure is called where people read it. A key that is accepted no more ends the session. */
export function reasonOf(error: unknown): string {
  if (error instanceof ApiError) {
    if (error.status === 401) signOut('The key is accepted no more.');
    // The service says of what a key may not see that it is not there.
    if (error.code === 'ROUTE_NOT_FOUND') return 'Your key may not see this.';
    return error.message;
  }
  return 'The server is not reached.';
}
