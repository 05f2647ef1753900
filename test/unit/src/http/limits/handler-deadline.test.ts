import { fastify } from 'fastify';
import t from 'tap';
import { AppError } from '../../../../../src/domain/errors.ts';
import { limitHandlers } from '../../../../../src/http/limits/handler-deadline.ts';

t.test('a handler that is too slow is answered for, unless it ends by itself', async (t) => {
  const app = fastify();
  t.teardown(() => app.close());
  app.setErrorHandler((error, _request, reply) =>
    reply.code(error instanceof AppError ? error.status : 500).send({ error: (error as Error).message }),
  );
  limitHandlers(app, 0.05);
  const late = Promise.withResolvers<string>();
  app.get('/never', () => late.promise);
  app.get('/own', { config: { ownDeadline: true } }, () => new Promise((resolve) => setTimeout(resolve, 150, 'done')));
  app.get('/quick', async () => 'quick');

  const never = await app.inject('/never');
  t.equal(never.statusCode, 504);
  t.match(never.json(), { error: 'The request was not answered within 0.05 s' });
  late.resolve('too late, and nobody minds');
  t.equal((await app.inject('/own')).body, 'done');
  t.equal((await app.inject('/quick')).body, 'quick');
});
