import t from 'tap';
import { evaluationMs } from '../../../sandbox/evaluation-time.ts';

t.test('a module has five seconds, or as long as a stretch of a call where that is more', async (t) => {
  t.equal(evaluationMs({ slice_ms: 500 }), 5000);
  t.equal(evaluationMs({ slice_ms: 20_000 }), 20_000);
});
