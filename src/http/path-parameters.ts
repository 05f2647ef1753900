import type { FastifyInstance } from 'fastify';

/** What follows in a plugin's path is the plugin's to understand. */
const TAIL = '*';

/**
 * Puts U+FFFD for what no database takes as text, NUL and lone surrogates, in the parameters of every path. No id has
 * any of them, so such a path is answered as that of any unknown id.
 */
export function makeParametersStorable(app: FastifyInstance): void {
  app.addHook<{ Params: Record<string, string> }>('preValidation', (request, _reply, done) => {
    for (const [name, value] of Object.entries(request.params)) {
      if (name !== TAIL) request.params[name] = value.toWellFormed().replaceAll('\0', '\u{fffd}');
    }
    done();
  });
}
