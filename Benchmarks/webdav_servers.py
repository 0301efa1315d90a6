"""The WebDAV servers under comparison: the configuration of each, and what it does not do."""

import importlib.util
import os
import pwd
import shutil
import sys
from pathlib import Path

import harness
import servers

REPOSITORY = harness.HERE.parent
# A module, because what PyPI installs for one user is not on PATH everywhere.
WSGIDAV_PROGRAM = [sys.executable, "-m", "wsgidav.server.server_cli"]

APACHE_MODULES = ["/usr/lib/apache2/modules", "/usr/lib64/httpd/modules", "/usr/lib/httpd/modules"]
APACHE = """
{loads}
ServerName localhost
Listen 127.0.0.1:{port}
PidFile {folder}/pid
ErrorLog {folder}/error
Mutex file:{folder} default
DefaultRuntimeDir {folder}
DocumentRoot {root}
DavLockDB {folder}/locks
TypesConfig {types}
KeepAlive On
KeepAliveTimeout 300
MaxKeepAliveRequests 0
EnableSendfile On
LimitRequestBody 0
{user}
<Directory {root}>
    Require all granted
    Dav On
    DavDepthInfinity On
</Directory>
"""

NGINX = """
{load}
daemon off;
user {user};
pid {folder}/nginx.pid;
error_log {folder}/error.log crit;
worker_processes 2;
events {{ worker_connections 1000; }}
http {{
    access_log off;
    sendfile on;
    tcp_nopush on;
    tcp_nodelay on;
    keepalive_timeout 300s;
    keepalive_requests 1000000000;
    client_max_body_size 0;
    client_body_temp_path {scratch};
    proxy_temp_path {folder};
    fastcgi_temp_path {folder};
    uwsgi_temp_path {folder};
    scgi_temp_path {folder};
    dav_ext_lock_zone zone=locks:10m;
    server {{
        listen 127.0.0.1:{port};
        root {root};
        dav_methods PUT DELETE MKCOL COPY MOVE;
        dav_ext_methods PROPFIND OPTIONS LOCK UNLOCK;
        dav_ext_lock zone=locks;
    }}
}}
"""
NGINX_MODULES = ["/usr/lib/nginx/modules", "/usr/lib64/nginx/modules"]

LIGHTTPD = """
server.modules = ( "mod_webdav" )
server.bind = "127.0.0.1"
server.port = {port}
server.document-root = "{root}"
server.errorlog = "{folder}/error.log"
server.upload-dirs = ( "{scratch}" )
server.max-keep-alive-requests = 1000000000
server.max-keep-alive-idle = 300
server.stream-request-body = 1
webdav.activate = "enable"
webdav.is-readonly = "disable"
webdav.sqlite-db-name = "{folder}/webdav.db"
webdav.opts = ( "propfind-depth-infinity" => "enable" )
"""

WSGIDAV = """
host: 127.0.0.1
port: {port}
server: cheroot
provider_mapping: {{ "/": "{root}" }}
simple_dc: {{ user_mapping: {{ "*": true }} }}
property_manager: true
lock_storage: true
verbose: 1
logging: {{ enable: false, enable_loggers: [] }}
"""


def tree(setup):
    """The server's own copy of the tree."""
    return Path(setup.root) / setup.name


def scratch(setup):
    """A folder on the file system of the trees, which a server may write to."""
    path = Path(setup.root) / f"{setup.name}-scratch"
    path.mkdir(exist_ok=True)
    path.chmod(0o777)
    return path


def write(setup, name, template, **values):
    path = Path(setup.folder) / name
    Path(setup.folder).chmod(0o777)
    path.write_text(template.format(folder=setup.folder, port=setup.port, root=tree(setup),
                                    **values))
    return path


def first(folders, name):
    return next((Path(folder) / name for folder in folders if (Path(folder) / name).exists()), None)


def ours_command(setup, repository=REPOSITORY):
    return [harness.built_product("httpkit", repository), "serve", tree(setup), "--port",
            setup.port, "--webdav", "/", "--log-level", "error"]


def apache_command(setup):
    names = ["mpm_event", "unixd", "authz_core", "mime", "dav", "dav_fs"]
    found = {name: first(APACHE_MODULES, f"mod_{name}.so") for name in names}
    loads = "\n".join(f"LoadModule {name}_module {path}" for name, path in found.items() if path)
    user = "User #65534\nGroup #65534" if os.geteuid() == 0 else ""
    path = write(setup, "httpd.conf", APACHE, loads=loads, user=user,
                 types="/etc/mime.types" if Path("/etc/mime.types").exists() else os.devnull)
    program = shutil.which("apache2") or shutil.which("httpd") or "/usr/sbin/apache2"
    return [program, "-DFOREGROUND", "-d", setup.folder, "-f", path]


def nginx_command(setup):
    module = first(NGINX_MODULES, "ngx_http_dav_ext_module.so")
    if not module:
        raise RuntimeError("there is no module dav-ext (Debian: libnginx-mod-http-dav-ext)")
    user = pwd.getpwuid(os.geteuid()).pw_name
    path = write(setup, "nginx.conf", NGINX, load=f"load_module {module};", user=user,
                 scratch=scratch(setup))
    return ["nginx", "-p", setup.folder, "-c", path, "-e", f"{setup.folder}/error.log"]


def lighttpd_command(setup):
    return ["lighttpd", "-D", "-f", write(setup, "lighttpd.conf", LIGHTTPD, scratch=scratch(setup))]


def rclone_command(setup):
    return ["rclone", "serve", "webdav", tree(setup), "--addr", f"127.0.0.1:{setup.port}",
            "--config", "/dev/null", "--log-level", "ERROR"]


def wsgidav_command(setup):
    if not importlib.util.find_spec("wsgidav"):
        raise RuntimeError("wsgidav is not there (PyPI: wsgidav and cheroot)")
    return [*WSGIDAV_PROGRAM, "--config", write(setup, "wsgidav.yaml", WSGIDAV)]


COMMANDS = {"ours": ours_command, "apache": apache_command, "nginx": nginx_command,
            "lighttpd": lighttpd_command, "rclone": rclone_command, "wsgidav": wsgidav_command}
if harness.BASE:
    COMMANDS["base"] = lambda setup: ours_command(setup, harness.BASE)
servers.COMMANDS.update({f"dav-{name}": command for name, command in COMMANDS.items()})

# What has to be known to read the figures: where the work is not the same.
NOTES = {
    "apache": "dead properties in a database file for each directory, locks in one for all",
    "nginx": "no dead properties, no entity tags or times of birth in PROPFIND; locks in memory; "
             "every file that is replaced or copied gets new content by a second file",
    "lighttpd": "dead properties and locks in one SQLite file; Depth infinity has to be allowed",
    "rclone": "no dead properties; locks in memory; files are written in place; collections are "
              "kept in memory for five minutes, changes on the disk are not seen meanwhile",
    "wsgidav": "dead properties and locks in memory; files are written in place",
}


def versions():
    """What was compared, as each program tells it."""
    apache = shutil.which("apache2") or shutil.which("httpd") or "/usr/sbin/apache2"
    return {
        "apache": harness.output_of(apache, "-v"), "nginx": harness.output_of("nginx", "-v"),
        "lighttpd": harness.output_of("lighttpd", "-v"),
        "rclone": harness.output_of("rclone", "version"),
        "wsgidav": (harness.output_of(*WSGIDAV_PROGRAM, "--version")
                    if importlib.util.find_spec("wsgidav") else ""),
        "python": sys.version.split()[0],
    }
