import type { FastifyInstance } from 'fastify';

/** The rest of a plugin's path. It is left unchanged for the plugin. */
const TAIL = '*';

/**
 * Replaces NUL and lone surrogates in path parameters with U+FFFD, because no database stores them as text. No id
 * contains these characters, so such a path is answered like any unknown id.
 */
export function makeParametersStorable(app: FastifyInstance): void {
  app.addHook<{ Params: Record<string, string> }>('preValidation', (request, _reply, done) => {
    for (const [name, value] of Object.entries(request.params)) {
      if (name !== TAIL) request.params[name] = value.toWellFormed().replaceAll('\0', '\u{fffd}');
    }
    done();
  });
}
