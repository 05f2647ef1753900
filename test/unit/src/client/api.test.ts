import { readFileSync } from 'node:fs';
import t from 'tap';
import { apiText } from '../../../client/api-text.ts';
import { describedApi } from '../../../client/described-api.ts';

t.test('the types of the client are those of the description: npm run client writes them', async (t) => {
  const file = new URL('../../../../src/client/api.ts', import.meta.url);
  t.equal(readFileSync(file, 'utf8'), apiText(await describedApi(t)));
});
