import { createBlobClasses } from '../globals/blob.ts';
import { createBodyClass } from '../globals/body.ts';
import { createFetch } from '../globals/fetch.ts';
import { createFormDataClass } from '../globals/form-data.ts';
import { Headers } from '../globals/headers.ts';
import { createRequestClass } from '../globals/request.ts';
import { createResponseClass } from '../globals/response.ts';
import type { PartWorld } from '../part-world.ts';

/** fetch and the classes around it, which refer to each other. */
export function part({ classes, asker, streams, loadedStreams }: PartWorld): Record<string, unknown> {
  const blobs = createBlobClasses(streams);
  const FormData = createFormDataClass(blobs);
  const world = { ...classes, blobs, FormData, streams, loadedStreams };
  const body = createBodyClass(world);
  const request = createRequestClass(world, body);
  const response = createResponseClass(world, body);
  return {
    fetch: createFetch(asker, { world, body, request, response }),
    Headers,
    Request: request.Request,
    Response: response.Response,
    Blob: blobs.Blob,
    File: blobs.File,
    FormData,
  };
}
