import pg from 'pg';

/**
 * A pool of a test's own. Its end is that of its connections: a pool of `pg` says that it has ended while they still
 * take their leave, and a server that stops then breaks them off, which is an error that nobody hears.
 */
export class PostgresPool extends pg.Pool {
  readonly #open = new Set<Promise<void>>();

  constructor(config: pg.PoolConfig) {
    super(config);
    this.on('connect', (client) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#open.add(promise);
      client.once('end', () => {
        this.#open.delete(promise);
        resolve();
      });
    });
  }

  override async end(): Promise<void> {
    await super.end();
    await Promise.all(this.#open);
  }
}
