import type { Test } from 'tap';
import type { JsonObject } from '../../src/domain/json/json.ts';
import { describeApi } from '../../src/http/openapi/document.ts';
import { describedBodies } from '../support/described.ts';
import { startHttp } from '../support/http-server.ts';

/** The description of what a server answers, as a reader of JSON has it. */
export async function describedApi(t: Pick<Test, 'teardown'>): Promise<JsonObject> {
  const { server } = await startHttp(t);
  return JSON.parse(JSON.stringify(describeApi(server.routes, describedBodies()))) as JsonObject;
}
