import t from 'tap';
import { writeJson } from '../../../../../src/domain/json/json-text.ts';
import { answerText } from '../../../../../src/http/answers/answer-text.ts';

t.test('an answer is written as JSON is', async (t) => {
  const view = Object.freeze({ id: 'é"\u2028', gas: 2n ** 70n, list: [1n], gone: undefined });
  for (const body of [
    { success: true, data: view, error: null },
    { success: true, data: [view, { id: 1 }, null, undefined, 'text', [view]], error: null, pagination: { total: 3n } },
    { success: false, data: undefined, error: 'a "reason"', '"': 1 },
    { success: true, data: [] },
    ...[[view], 'text', null, 1n, {}],
  ]) {
    t.equal(answerText(body), writeJson(body));
  }
});

t.test('what is frozen is written once', async (t) => {
  let reads = 0;
  const view = Object.freeze({
    get id() {
      reads += 1;
      return 'tx';
    },
  });
  const first = answerText({ data: view });
  const readsOfOne = reads;
  t.ok(readsOfOne > 0);
  t.equal(answerText({ data: [view] }), '{"data":[{"id":"tx"}]}');
  t.equal(answerText({ data: view }), first);
  t.equal(reads, readsOfOne);
});

t.test('what may change is written anew', async (t) => {
  const view = { id: 1 };
  t.equal(answerText({ data: view }), '{"data":{"id":1}}');
  view.id = 2;
  t.equal(answerText({ data: view }), '{"data":{"id":2}}');
});
