import pg from 'pg';

/**
 * A pool of one test. Its `end` waits until its connections have ended. A pool of `pg` ends before its connections do.
 * If the server stops then, it breaks them off, and their errors have no listener.
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
