import { readFileSync } from 'node:fs';
import t from 'tap';
import type { JsonObject } from '../../../../src/domain/json/json.ts';
import { apiText } from '../../../client/api-text.ts';
import { startHttp } from '../../../support/http-server.ts';

t.test('the types of the client are those of the description: npm run client writes them', async (t) => {
  const { url } = await startHttp(t);
  const document = await fetch(`${url}/api-docs/openapi.json`).then((answer) => answer.json() as Promise<JsonObject>);
  const file = new URL('../../../../src/client/api.ts', import.meta.url);
  t.equal(readFileSync(file, 'utf8'), apiText(document));
});
