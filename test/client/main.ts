/** Writes the client's types: `npm run client`. */
import { writeFileSync } from 'node:fs';
import type { Test } from 'tap';
import type { JsonObject } from '../../src/domain/json/json.ts';
import { startHttp } from '../support/http-server.ts';
import { apiText } from './api-text.ts';

const ends: (() => unknown)[] = [];
const { url } = await startHttp({ teardown: (end: () => unknown) => ends.push(end) } as unknown as Test);
const document = await fetch(`${url}/api-docs/openapi.json`).then((answer) => answer.json() as Promise<JsonObject>);
writeFileSync(new URL('../../src/client/api.ts', import.meta.url), apiText(document));
for (const end of ends.toReversed()) await end();
