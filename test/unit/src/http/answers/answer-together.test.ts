import { fastify } from 'fastify';
import t from 'tap';
import { answerTogether } from '../../../../../src/http/answers/answer-together.ts';

t.test('answers that are ready in one turn are written after all of them are', async (t) => {
  const app = fastify();
  t.teardown(() => app.close());
  const steps: string[] = [];
  answerTogether(app);
  app.addHook('onResponse', async (request) => void steps.push(`written ${request.url}`));
  app.get('/:id', async (request) => {
    steps.push(`made ${request.url}`);
    return 'answer';
  });
  await app.ready();
  const answers = await Promise.all(['/1', '/2', '/3'].map((url) => app.inject({ method: 'GET', url })));
  t.same(
    answers.map(({ body }) => body),
    ['answer', 'answer', 'answer'],
  );
  t.same(steps, ['made /1', 'made /2', 'made /3', 'written /1', 'written /2', 'written /3']);
});
