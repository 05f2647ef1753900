import t from 'tap';
import { RenewedClient } from '../../../../../src/signers/remote/renewed-client.ts';

/** Searches for credentials once and keeps the result, as vendors' clients do. */
class SearchingClient {
  readonly #search: () => Promise<string>;
  #found: Promise<string> | undefined;

  constructor(search: () => Promise<string>) {
    this.#search = search;
  }

  async send(): Promise<{ by: string }> {
    this.#found ??= this.#search();
    return { by: await this.#found };
  }
}

t.test('a client whose first search for credentials hangs is made anew', async (t) => {
  let searches = 0;
  const search = () => {
    searches += 1;
    return searches === 1 ? new Promise<string>(() => {}) : Promise.resolve(`search ${searches}`);
  };
  const clients = new RenewedClient(() => new SearchingClient(search), 50);
  const ask = () => clients.ask((client) => client.send());
  await t.rejects(ask(), { message: 'no answer within 0.05 s' });
  t.strictSame(await ask(), { by: 'search 2' });
  t.strictSame(await ask(), { by: 'search 2' }, 'and stays');
});

t.test('an answer and an error are passed on, by the same client', async (t) => {
  let made = 0;
  const clients = new RenewedClient(() => ({ number: ++made }), 60_000);
  t.strictSame(await clients.ask(async (client) => client), { number: 1 });
  await t.rejects(
    clients.ask(() => Promise.reject(new Error('refused'))),
    { message: 'refused' },
  );
  t.equal(clients.current.number, 1);
});

t.test('questions that hang together make one client anew', async (t) => {
  let made = 0;
  const clients = new RenewedClient(() => ({ number: ++made }), 1);
  const hung = () => clients.ask(() => new Promise<object>(() => {}));
  await Promise.all([t.rejects(hung()), t.rejects(hung()), t.rejects(hung())]);
  t.equal(clients.current.number, 2);
});
