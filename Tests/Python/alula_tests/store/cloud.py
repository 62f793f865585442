"""S3 and STS of moto on a free port, which demand signatures when they are told to."""
import json
import logging
import urllib.request

import boto3
import botocore.auth
from moto.server import ThreadedMotoServer

# botocore signs no `User-Agent`; a request that does sign it is as valid.
botocore.auth.SIGNED_HEADERS_BLACKLIST.remove("user-agent")
logging.getLogger("werkzeug").setLevel(logging.ERROR)
POLICY = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}]}
TRUST = {"Version": "2012-10-17", "Statement": [
    {"Effect": "Allow", "Principal": {"Federated": "*"}, "Action": "sts:AssumeRoleWithWebIdentity"}]}


class Cloud:
    """A bucket `kept`, a user with keys and a role that may use it."""

    def __init__(self, region):
        self.server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
        self.server.start()
        self.port = self.server.get_host_and_port()[1]
        self.url = f"http://127.0.0.1:{self.port}"

        def client(service):
            return boto3.client(service, region_name=region, endpoint_url=self.url, aws_access_key_id="test",
                                aws_secret_access_key="test")

        self.s3, iam = client("s3"), client("iam")
        self.s3.create_bucket(Bucket="kept", CreateBucketConfiguration={"LocationConstraint": region})
        iam.create_user(UserName="store")
        iam.put_user_policy(UserName="store", PolicyName="store", PolicyDocument=json.dumps(POLICY))
        key = iam.create_access_key(UserName="store")["AccessKey"]
        self.id, self.secret = key["AccessKeyId"], key["SecretAccessKey"]
        self.role = iam.create_role(RoleName="store", AssumeRolePolicyDocument=json.dumps(TRUST))["Role"]["Arn"]
        iam.put_role_policy(RoleName="store", PolicyName="store", PolicyDocument=json.dumps(POLICY))

    def demand_signatures(self, after):
        """Has all requests judged but the next ones, so many: the exchange of a token is not signed."""
        urllib.request.urlopen(urllib.request.Request(
            f"{self.url}/moto-api/reset-auth", str(after).encode(), {"Content-Type": "text/plain"})).read()

    def fields(self, name):
        found = self.s3.head_object(Bucket="kept", Key=name)
        return found["ContentType"], found["CacheControl"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        # Its thread would outlive a check that fails.
        self.server.stop()
