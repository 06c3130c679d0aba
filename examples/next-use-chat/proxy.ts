import { NextResponse, type NextRequest } from 'next/server.js';
import { newVisitor, visitorOf } from './visitor.ts';

/** The page itself brings the cookie: requests of one page that each brought their own would be different people. */
export function proxy(request: NextRequest): NextResponse {
  const response = NextResponse.next();
  if (visitorOf(request) === null) response.headers.set('set-cookie', newVisitor());
  return response;
}

export const config = { matcher: '/' };
