import type { FastifyInstance } from 'fastify';

/** The address a server listens on, and the variable that sets its port. */
export interface ListenAddress {
  host: string;
  /** 0: any free port. */
  port: number;
  /** The name of this variable appears in the error when the port is not available. */
  variable: string;
}

/**
 * Starts listening; resolves with the URL.
 * @throws Error that names the variable to change when the address cannot be had
 */
export async function listenOn(app: FastifyInstance, { host, port, variable }: ListenAddress): Promise<string> {
  try {
    return await app.listen({ host, port });
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
    const reason = REASONS[code] ?? code;
    throw new Error(
      `Cannot listen on ${host} port ${port}: ${reason}. ${variable} chooses the port, HOST the address`,
      {
        cause,
      },
    );
  }
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program has it',
  EACCES: 'this user may not use it',
  EADDRNOTAVAIL: 'this machine does not have the address',
  ENOTFOUND: 'there is no such host',
};
